import { itIsAsRecorded } from '../../conformance/recorded.ts';

itIsAsRecorded('node-health', 150);
