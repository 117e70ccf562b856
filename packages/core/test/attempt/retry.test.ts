import { itAnswersEvictions } from '../eviction/script.ts';

itAnswersEvictions('retries');
