import { itAnswersEvictions } from '../eviction/script.ts';

itAnswersEvictions('policies policy-events');
