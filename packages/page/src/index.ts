// The door of the page: what it takes, and how it is made.
export { LiveHistory } from './history.ts';
export { type LivePage, livePage, pageHtml, whatIfPage } from './html.ts';
export type { PageInput } from './input.ts';
export type {
  LeftOut,
  LiveAction,
  LiveHold,
  LiveInput,
  LiveMoment,
  LiveNode,
  LivePod,
  LiveZone,
} from './live.ts';
export { type WhatIf, type WhatIfLine, whatIfEvents } from './what-if.ts';
