import { itIsAsRecorded } from '../conformance/recorded.ts';

itIsAsRecorded('kubelet-pressure-sequences', 240);
