//! Tests records longer than a block of the inflating thread: every combination ends with the rows of a single thread.
//!
//! Each case runs in a child process with a time limit, since a deadlocked reader cannot be ended from inside.

use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use headland::archive::ReadOptions;
use headland::layer::{self, Layer, TypePolicy};

use crate::builder;
use crate::series::cases;
use crate::stream::batches;

const TIME_LIMIT: Duration = Duration::from_secs(60);
const CHILD: &str = "HEADLAND_LONG_RECORDS";

/// Lines, rings and multipoints, plain, with Z and with M.
const KINDS: [i32; 9] = [3, 5, 8, 13, 15, 18, 23, 25, 28];

/// Vertex counts of the records of one file: about 64 KiB, 128 KiB and 1 MiB of coordinates, and mixed with short ones.
fn sizes() -> Vec<Vec<usize>> {
    let around = (4089..=4098).chain(8191..=8193).map(|size| vec![size; 7]);
    let mixed = [
        vec![65_536; 3],
        vec![3, 65_536, 3, 4096, 4097, 3, 8192, 3],
        vec![4097, 4097, 3, 3, 3, 65_536, 4097, 4097, 4097],
        vec![70_000, 3, 4092, 4093, 4094, 4095, 4096, 16_384],
    ];
    around.chain(mixed).collect()
}

/// One file: shape type, vertices of each record, deflated or stored, size of the .dbf, with or without .shx.
#[derive(Clone, Debug)]
struct Case {
    kind: i32,
    vertices: Vec<usize>,
    is_deflated: bool,
    table: Table,
    has_index: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Missing,
    Short,
    /// Longer than the .shp, so that both members may get a thread.
    Long,
}

fn all() -> Vec<Case> {
    let mut all = Vec::new();
    for kind in KINDS {
        for vertices in sizes() {
            for is_deflated in [true, false] {
                for table in [Table::Missing, Table::Short, Table::Long] {
                    for has_index in [true, false] {
                        all.push(Case { kind, vertices: vertices.clone(), is_deflated, table, has_index });
                    }
                }
            }
        }
    }
    all
}

/// The record of `count` vertices in one part.
fn record(kind: i32, count: usize, row: usize) -> Vec<u8> {
    let number = |value: usize| f64::from(u32::try_from(value).unwrap());
    let points: Vec<(f64, f64)> = (0..count)
        .map(|vertex| {
            // A closed ring whose coordinates hardly deflate.
            let turn = number(vertex % (count - 1)) / number(count) * std::f64::consts::TAU;
            (turn.cos() + number(row) * 3.0, turn.sin())
        })
        .collect();
    let values: Vec<f64> = (0..count).map(number).collect();
    // Z, then M.
    let ordinates = usize::try_from(kind / 10 % 2 + i32::from(kind > 20)).unwrap();
    builder::with_ordinates(kind, &[0], &points, &[&values[..], &values][..ordinates])
}

fn archive(case: &Case) -> Vec<u8> {
    let records: Vec<Vec<u8>> =
        case.vertices.iter().enumerate().map(|(row, count)| record(case.kind, *count, row)).collect();
    let (shp, shx) = builder::shp(case.kind, &records);
    let width = if case.table == Table::Long { 250 } else { 10 };
    let fields: Vec<builder::Field<'_>> = match case.table {
        Table::Long => vec![("NAME", b'C', width, 0); 200],
        Table::Short | Table::Missing => vec![("NAME", b'C', width, 0)],
    };
    // Digits of a multiplicative generator: they deflate to about a half.
    let mut state = 1_u64;
    let rows: Vec<Vec<u8>> = (0..records.len())
        .map(|_| {
            let mut row = vec![b' '];
            row.extend((0..fields.len() * usize::from(width)).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                b'!' + u8::try_from(state >> 58).unwrap()
            }));
            row
        })
        .collect();
    let dbf = builder::dbf(&fields, &rows, 0);
    let mut members: Vec<(&str, &[u8])> = vec![("t.shp", &shp)];
    if case.has_index {
        members.push(("t.shx", &shx));
    }
    if case.table != Table::Missing {
        members.push(("t.dbf", &dbf));
    }
    let method = if case.is_deflated { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    builder::zip_with(&members, method)
}

/// Reads the case on 1, 2 and 4 threads and with the default, whole and in batches; all must be equal.
fn check(case: &Case) {
    let source = builder::source(archive(case));
    let on = |threads| ReadOptions { threads, ..ReadOptions::default() };
    let one = layer::read(&source, &on(Some(1))).unwrap();
    assert_eq!(one.len(), case.vertices.len());
    for threads in [Some(2), Some(4), None] {
        let many = layer::read(&source, &on(threads)).unwrap();
        assert!(one.batches() == many.batches(), "{case:?} on {threads:?} threads");
        assert_eq!(one.diagnostics(), many.diagnostics(), "{case:?} on {threads:?} threads");
    }
    for size in [2, 1000] {
        let (all, _, error) = batches(&source, &on(Some(2)), &TypePolicy::Scan, size);
        assert!(error.is_none(), "{case:?}: {error:?}");
        assert_eq!(all.iter().map(Layer::len).sum::<usize>(), one.len(), "{case:?} in batches");
    }
}

/// Runs the cases of one child, given by their numbers, and prints each when it is complete.
fn run_child(numbers: &str) {
    let all = all();
    for number in numbers.split(',') {
        check(&all[number.parse::<usize>().unwrap()]);
        println!("done {number}");
    }
}

#[test]
fn long_records_never_hang_and_equal_one_thread() {
    if let Ok(numbers) = std::env::var(CHILD) {
        return run_child(&numbers);
    }
    let all = all();
    // A prime step meets every kind, size, method, table and index; `make soak` runs all.
    let wanted = usize::try_from(cases(48)).unwrap().min(all.len());
    let numbers: Vec<usize> = (0..wanted).map(|turn| turn * 1009 % all.len()).collect();
    let mut longest = Duration::ZERO;
    for numbers in numbers.chunks(8) {
        let list: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "long_records::long_records_never_hang_and_equal_one_thread", "--nocapture"])
            .env(CHILD, list.join(","))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in std::io::BufRead::lines(output).map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        let mut done = 0;
        let mut started = Instant::now();
        while done < numbers.len() {
            match lines.recv_timeout(TIME_LIMIT) {
                Ok(line) if line.starts_with("done ") => {
                    longest = longest.max(started.elapsed());
                    started = Instant::now();
                    done += 1;
                }
                Ok(_) => {}
                Err(reason) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    panic!("{reason} at {:?}", all[numbers[done]]);
                }
            }
        }
        assert!(child.wait().unwrap().success());
    }
    println!("{wanted} of {} cases, the longest took {longest:?}", all.len());
}
