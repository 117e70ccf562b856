import { itIsAsRecorded } from '../../conformance/recorded.ts';

itIsAsRecorded('kubelet-qos', 120);
