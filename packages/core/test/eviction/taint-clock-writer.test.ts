import { itAnswersEvictions } from './script.ts';

itAnswersEvictions('kept-starts');
