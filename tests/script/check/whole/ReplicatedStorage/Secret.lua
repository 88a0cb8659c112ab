return {word = "open"}
