import { itAnswersNodes } from './script.ts';

itAnswersNodes(`
  kubelet-not-ready never-reported startup-grace no-heartbeat flapping restart undone
`);
