"""What an argument, a tool's response or a piece of state may be: exact, a pattern, a number about so large …"""
