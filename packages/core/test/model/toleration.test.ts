import { itIsAsRecorded } from '../conformance/recorded.ts';

itIsAsRecorded('toleration-matching', 4000);
