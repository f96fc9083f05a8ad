"""Display: texts, tables, charts and maps for consoles and notebooks."""
