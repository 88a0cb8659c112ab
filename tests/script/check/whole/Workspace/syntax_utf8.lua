local äé = 1
