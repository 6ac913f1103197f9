// Reads a log several times with go-mysql, in one thread.
//
//	bench LOG PASSES
//
// Prints a line for each pass: how many rows, and how many seconds. Checksums are verified. Decimals and times are
// strings, as go-mysql returns them by default, and JSON is text.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/replication"
)

const bufferBytes = 1 << 20

type counter struct {
	rows int
}

func (counted *counter) take(event *replication.BinlogEvent) error {
	switch body := event.Event.(type) {
	case *replication.RowsEvent:
		images := len(body.Rows)
		switch event.Header.EventType {
		case replication.UPDATE_ROWS_EVENTv0, replication.UPDATE_ROWS_EVENTv1, replication.UPDATE_ROWS_EVENTv2:
			images /= 2 // before and after
		}
		counted.rows += images
	case *replication.TransactionPayloadEvent:
		for _, inner := range body.Events {
			if err := counted.take(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func read(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, bufferBytes)
	if _, err := reader.Discard(len(replication.BinLogFileHeader)); err != nil {
		return 0, err
	}
	parser := replication.NewBinlogParser()
	parser.SetVerifyChecksum(true)
	counted := counter{}
	err = parser.ParseReader(reader, counted.take)
	return counted.rows, err
}

func main() {
	passes, err := strconv.Atoi(os.Args[2])
	for pass := 0; err == nil && pass < passes; pass++ {
		begin := time.Now()
		var rows int
		rows, err = read(os.Args[1])
		fmt.Printf("%d %.6f\n", rows, time.Since(begin).Seconds())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
