module example.com/taintmgr/test-server

go 1.19
