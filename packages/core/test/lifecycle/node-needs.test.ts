import { itIsAsRecorded } from '../conformance/recorded.ts';

itIsAsRecorded('label-reconcile', 60);
