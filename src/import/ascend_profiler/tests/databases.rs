//! `SQLite` databases, made here.

use rusqlite::{Connection, MAIN_DB};

use super::{count_of, read, recordings_of};
use crate::test_help::damage;
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};
use highwater_model::units::{Bytes, Nanos, Step};
use highwater_model::workload::TotalKind;

fn database(statements: &str) -> Vec<u8> {
    let mut connection = Connection::open_in_memory().expect("memory is there");
    connection.execute_batch(statements).expect("the statements are right");
    connection.serialize(MAIN_DB).expect("it has pages").to_vec()
}

const TORCH: &str = "
    CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO STRING_IDS VALUES (1, 'aten::add'), (2, 'PTA'), (3, 'APP'), (4, 'GE'), (5, 'allocate'), (6, 'release');
    CREATE TABLE ENUM_MODULE (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO ENUM_MODULE VALUES (3, 'HCCL'), (4, 'APP');
    CREATE TABLE OP_MEMORY (name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER,
        activeReleaseTime INTEGER, duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER,
        allocationTotalReserved INTEGER, allocationTotalActive INTEGER, releaseTotalAllocated INTEGER,
        releaseTotalReserved INTEGER, releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);
    INSERT INTO OP_MEMORY VALUES
        (1, 4608, 1724670453468255710, 1724670453468599630, 1724670453468599320, 1, 1, 100, 200, 100, 50, 200, 50, 77, 0),
        (9, 512, 1724670453468255711, NULL, NULL, NULL, NULL, 150, 300, 150, NULL, NULL, NULL, 77, 0);
    CREATE TABLE MEMORY_RECORD (component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER,
        totalActive INTEGER, streamPtr INTEGER, deviceId INTEGER);
    CREATE INDEX every_column ON MEMORY_RECORD (timestamp, component, totalAllocated, totalReserved, totalActive, deviceId);
    INSERT INTO MEMORY_RECORD VALUES (2, 20, 5, 9, 5, 77, 0), (2, 10, 6, 9, 6, 77, 0), (3, 10, NULL, 99, NULL, NULL, 0);
    CREATE TABLE NPU_MODULE_MEM (moduleId INTEGER, timestampNs INTEGER, totalReserved NUMERIC, deviceId INTEGER);
    INSERT INTO NPU_MODULE_MEM VALUES (3, 1, 1024, 0), (4, 1, 7, 0);
    CREATE TABLE NPU_MEM (type INTEGER, ddr NUMERIC, hbm NUMERIC, timestampNs INTEGER, deviceId INTEGER);";

#[test]
fn tables_of_torch_npu() {
    let (recordings, diagnostics) = recordings_of(&database(TORCH));
    let names: Vec<&str> = recordings.iter().map(|recording| recording.name.as_str()).collect();
    assert_eq!(names, ["NPU:0", "PTA", "APP", "HCCL", "APP (NPU_MODULE_MEM)"]);
    let blocks = &recordings[0];
    assert_eq!(blocks.blocks[0].bytes, Bytes(4608));
    assert_eq!(blocks.text(blocks.blocks[0].name), "aten::add");
    assert_eq!(blocks.text(blocks.blocks[1].name), "9");
    assert_eq!(blocks.times.first(), Some(Nanos(1_724_670_453_468_255_710)));
    assert_eq!((blocks.blocks[0].end, blocks.blocks[1].is_freed), (Step(2), false));
    assert_eq!(
        blocks.total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(300))
    );
    assert!(recordings[1].times.iter().eq([Nanos(10), Nanos(20)]));
    assert_eq!(
        recordings[3].total(TotalKind::Reserved).map(|total| total.peak().0),
        Some(Bytes(1024))
    );
    assert_eq!(count_of(&diagnostics, "has no text, so the id is shown"), 1);
    assert_eq!(count_of(&diagnostics, "NPU_MEM"), 1);
}

#[test]
fn events_of_the_graph_engine_and_of_msmemscope() {
    let (engine, _) = recordings_of(&database(
        "CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT);
         INSERT INTO STRING_IDS VALUES (1, 'Conv2D'), (4, 'GE'), (5, 'allocate'), (6, 'release');
         CREATE TABLE NPU_OP_MEM (operatorName INTEGER, addr INTEGER, type INTEGER, size INTEGER, timestampNs INTEGER,
            globalTid INTEGER, totalAllocate INTEGER, totalReserve INTEGER, component INTEGER, deviceId INTEGER);
         INSERT INTO NPU_OP_MEM VALUES (1, 4096, 5, 512, 10, 1, 512, 1024, 4, 0), (1, 4096, 6, 512, 20, 1, 0, 1024, 4, 0);",
    ));
    assert_eq!(engine[0].name, "GE/0");
    assert_eq!(engine[0].text(engine[0].blocks[0].name), "Conv2D");
    assert!(engine[0].blocks[0].is_freed);
    let (scope, _) = recordings_of(&database(
        "CREATE TABLE memscope_dump (ID INTEGER PRIMARY KEY, Event TEXT, \"Event Type\" TEXT, Name TEXT,
            \"Timestamp(ns)\" INTEGER, \"Process Id\" INTEGER, \"Thread Id\" INTEGER, \"Device Id\" TEXT, Ptr TEXT, Attr TEXT);
         CREATE TABLE memory_block (id INTEGER);
         INSERT INTO memscope_dump VALUES (1, 'MALLOC', 'PTA', 'N/A', 5, 1, 1, '0', '0x10', '{addr:0x10,size:8}');",
    ));
    assert_eq!(scope[0].name, "PTA/0");
    assert_eq!(scope[0].blocks[0].bytes, Bytes(8));
}

#[test]
fn only_real_tables_are_read() {
    let error = read(&database(
        "CREATE TABLE t (x); INSERT INTO t VALUES (1);
         CREATE VIEW OP_MEMORY AS WITH RECURSIVE n(name) AS (SELECT 1 UNION ALL SELECT name + 1 FROM n)
            SELECT name, 1 AS size, 1 AS allocationTime FROM n;",
    ));
    let error = error.expect_err("a view is no table").to_string();
    assert!(error.contains("none of the tables"), "{error}");
    let old = read(&database(
        "CREATE TABLE OP_MEMORY (name TEXT, size INTEGER, allocation_time NUMERIC);",
    ));
    assert!(old.is_err());
}

#[test]
fn a_database_with_a_journal_is_read() {
    let mut bytes = database(TORCH);
    bytes[18] = 2;
    bytes[19] = 2;
    let (recordings, diagnostics) = recordings_of(&bytes);
    assert_eq!(recordings.len(), 5);
    assert_eq!(count_of(&diagnostics, "journal"), 1);
}

#[test]
fn damage_is_an_error_and_never_a_hang() {
    let whole = database(TORCH);
    for end in (16..whole.len()).step_by(509) {
        assert!(read(&whole[..end]).is_err(), "cut at {end}");
    }
    damage(&whole, 1_000, b"\0\xff", |bytes| drop(read(bytes)));
}

#[test]
fn cancelling_stops_while_reading() {
    let cancel = Cancel::new();
    cancel.cancel();
    let bytes = database(TORCH);
    let mut input = Input::from_bytes("x.db", &bytes).expect("memory can be read");
    let result = super::super::import(&mut input, &Progress::silent(&cancel), &mut Diagnostics::new());
    assert!(matches!(result, Err(ImportError::Cancelled(_))));
}
