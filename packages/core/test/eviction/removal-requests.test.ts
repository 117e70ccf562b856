import { itAnswersEvictions } from './script.ts';

itAnswersEvictions('budgets limit standby');
