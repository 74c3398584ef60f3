"""Black-box harness: a scripted origin, raw clients, process control of pawl and its peers."""
