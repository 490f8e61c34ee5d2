"""What differs between databases: connections, catalogues, types, and how rows are loaded."""
