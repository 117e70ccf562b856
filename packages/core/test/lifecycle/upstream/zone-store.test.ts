import { itIsAsRecorded } from '../../conformance/recorded.ts';

itIsAsRecorded('rate-limited-queue', 200);
