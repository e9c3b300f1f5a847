"""What the headers of a checkpoint's safetensors files say, from a folder or, by ranged requests, from the Hub."""
