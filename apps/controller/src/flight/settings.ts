import { outputFile } from '../flags/files.ts';
import { wholeNumber } from '../flags/kind.ts';
import { setting } from '../flags/setting.ts';

// Size and number of files are named as kube-apiserver names those of its audit log.

/** What the flight recorder can be told. */
export const flightRecorder = {
  flightRecord: setting(
    'flight-record',
    'flightRecord.file',
    outputFile,
    '',
    'write down each event and each command, to be played again by kubectl taintmgr simulate ' +
      '--replay; compressed where the name ends in .gz; by default nothing is written down',
  ),
  flightRecordMaxsize: setting(
    'flight-record-maxsize',
    'flightRecord.maxSize',
    wholeNumber(1),
    512,
    'megabytes of a flight record, at most: then it ends, and the controller goes on without',
  ),
  flightRecordMaxbackup: setting(
    'flight-record-maxbackup',
    'flightRecord.maxBackup',
    wholeNumber(0),
    3,
    'flight records of earlier starts that are kept, as FILE.1, FILE.2 and so on',
  ),
};
