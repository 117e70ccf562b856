import { itIsAsRecorded } from '../conformance/recorded.ts';
import { itAnswersPressure } from './script.ts';

itIsAsRecorded('kubelet-pressure-sequences', 240);

itAnswersPressure('hard-beats-soft one-at-a-time partial leaving still-stopping');
