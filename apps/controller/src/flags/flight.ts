// The settings of the flight recorder.
import { outputFile } from './files.ts';
import { wholeNumber } from './kind.ts';
import { setting } from './setting.ts';

// Size and number of files are named as kube-apiserver names those of its audit log.

/** What the flight recorder can be told. */
export const flightRecorder = {
  flightRecord: setting(
    'flight-record',
    'flightRecord.file',
    outputFile,
    '',
    'record each event and each command, to be replayed by kubectl taintmgr simulate ' +
      '--replay; compressed where the name ends in .gz; by default nothing is recorded',
  ),
  flightRecordMaxsize: setting(
    'flight-record-maxsize',
    'flightRecord.maxSize',
    wholeNumber(1),
    512,
    'maximum size of a flight record in megabytes; then recording stops, and the controller goes on',
  ),
  flightRecordMaxbackup: setting(
    'flight-record-maxbackup',
    'flightRecord.maxBackup',
    wholeNumber(0),
    3,
    'flight records of earlier starts to keep, as FILE.1, FILE.2 and so on',
  ),
};
