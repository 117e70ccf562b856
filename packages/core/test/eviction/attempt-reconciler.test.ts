import { itAnswersEvictions } from './script.ts';

itAnswersEvictions('moving cancel room');
