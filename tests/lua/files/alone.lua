print("never loaded")
