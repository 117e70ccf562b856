import { itAnswersEvictions } from './script.ts';

itAnswersEvictions('devices devices-held devices-takeover');
