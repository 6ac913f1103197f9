//! Reads a log several times with mysql_common, in one thread.
//!
//!     bench LOG PASSES
//!
//! Prints a line for each pass: how many rows, how many seconds, and the length of all JSON text. Every value of every
//! row is decoded and every checksum compared. The crate returns JSON as MySQL's bytes, which become text here.

use std::{env, error::Error, fs::File, io::BufReader, time::Instant};

use mysql_common::binlog::{
    consts::{BinlogChecksumAlg, BinlogVersion},
    events::{Event, EventData, RowsEventData},
    row::BinlogRow,
    value::BinlogValue,
    BinlogFile, EventStreamReader,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BUFFER_BYTES: usize = 1 << 20;

#[derive(Default)]
struct Counter {
    rows: u64,
    json_bytes: usize,
}

impl Counter {
    fn take_rows(&mut self, rows: &RowsEventData<'_>, reader: &EventStreamReader) -> Outcome<()> {
        let table = reader.get_tme(rows.table_id()).ok_or("rows of an unknown table")?;
        for row in rows.rows(table) {
            let (before, after) = row?;
            self.rows += 1;
            for image in [before, after].into_iter().flatten() {
                self.take_image(image)?;
            }
        }
        Ok(())
    }

    fn take_image(&mut self, image: BinlogRow) -> Outcome<()> {
        for value in image.unwrap() {
            if let BinlogValue::Jsonb(document) = value {
                let parsed = serde_json::Value::try_from(document.parse()?)?;
                self.json_bytes += parsed.to_string().len();
            }
        }
        Ok(())
    }
}

fn check(event: &Event) -> Outcome<()> {
    if let (Some(stored), Ok(Some(BinlogChecksumAlg::BINLOG_CHECKSUM_ALG_CRC32))) =
        (event.checksum(), event.footer().get_checksum_alg())
    {
        let computed = event.calc_checksum(BinlogChecksumAlg::BINLOG_CHECKSUM_ALG_CRC32);
        if u32::from_le_bytes(stored) != computed {
            return Err("a checksum does not match".into());
        }
    }
    Ok(())
}

fn read(path: &str) -> Outcome<Counter> {
    let mut counter = Counter::default();
    let input = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let mut file = BinlogFile::new(BinlogVersion::Version4, input)?;
    while let Some(event) = file.next() {
        let event = event?;
        check(&event)?;
        match event.read_data()? {
            Some(EventData::RowsEvent(rows)) => counter.take_rows(&rows, file.reader())?,
            Some(EventData::TransactionPayloadEvent(payload)) => {
                let mut inner = payload.decompressed()?;
                while let Some(event) = file.reader_mut().read_decompressed(&mut inner)? {
                    if let Some(EventData::RowsEvent(rows)) = event.read_data()? {
                        counter.take_rows(&rows, file.reader())?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(counter)
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().collect();
    for _ in 0..arguments[2].parse()? {
        let begin = Instant::now();
        let counter = read(&arguments[1])?;
        println!("{} {:.6} {}", counter.rows, begin.elapsed().as_secs_f64(), counter.json_bytes);
    }
    Ok(())
}
