//! `SQLite` databases, made here.

use rusqlite::{Connection, MAIN_DB};

use super::{read, recordings_of};
use crate::test_help::{shows, tells};
use crate::{ImportError, Input};
use highwater_model::diagnostics::Diagnostics;
use highwater_model::progress::{Cancel, Progress};

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
    let expected = "
        NPU:0, 3 steps: 1724670453468255710 +1 +343920
        block aten::add 0..2 4608 stream 77, freed at 2
        block 9 1..3 512 stream 77
        allocated 0:100 1:150 2:50
        reserved 0:200 1:300 2:200
        active 0:100 1:150 2:50
        PTA, 2 steps: 10 +10
        allocated 0:6 1:5
        reserved 0:9 1:9
        active 0:6 1:5
        APP, 1 steps: 10
        reserved 0:99
        HCCL, 1 steps: 1
        reserved 0:1024
        APP (NPU_MODULE_MEM), 1 steps: 1
        reserved 0:7";
    shows(&recordings, expected);
    tells(&diagnostics, &[("has no text, so the id is shown", 1), ("NPU_MEM", 1)]);
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
    let expected = "
        GE/0, 2 steps: 10 +10
        block Conv2D 0..1 512 @0x1000, freed at 1
        allocated 0:512 1:0
        reserved 0:1024 1:1024";
    shows(&engine, expected);
    let (scope, _) = recordings_of(&database(
        "CREATE TABLE memscope_dump (ID INTEGER PRIMARY KEY, Event TEXT, \"Event Type\" TEXT, Name TEXT,
            \"Timestamp(ns)\" INTEGER, \"Process Id\" INTEGER, \"Thread Id\" INTEGER, \"Device Id\" TEXT, Ptr TEXT, Attr TEXT);
         CREATE TABLE memory_block (id INTEGER);
         INSERT INTO memscope_dump VALUES (1, 'MALLOC', 'PTA', 'N/A', 5, 1, 1, '0', '0x10', '{addr:0x10,size:8}');",
    ));
    let expected = "
        PTA/0, 1 steps: 5
        block  0..1 8 @0x10";
    shows(&scope, expected);
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
    tells(&diagnostics, &[("journal", 1)]);
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
