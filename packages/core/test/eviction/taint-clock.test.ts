import { itAnswersEvictions } from './script.ts';

itAnswersEvictions('start time-ahead written-taints clock clock-back');
