import { itIsAsRecorded } from '../conformance/recorded.ts';

itIsAsRecorded('label-reconcile', 60);

itIsAsRecorded('condition-taints', 120);
