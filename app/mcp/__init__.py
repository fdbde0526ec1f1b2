"""The tool server for AI assistants (Model Context Protocol). A tool is one operation document of this folder."""
