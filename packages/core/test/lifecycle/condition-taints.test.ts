import { itIsAsRecorded } from '../conformance/recorded.ts';

itIsAsRecorded('condition-taints', 120);
