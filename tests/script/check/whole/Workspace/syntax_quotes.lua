local s = "é	" .. 'x' ?
