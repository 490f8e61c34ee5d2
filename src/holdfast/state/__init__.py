"""What is in the state of stateful operators, at any batch that is kept, without a JVM."""
