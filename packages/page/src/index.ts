// The door of the page: what it takes, and how it is made.
export { pageHtml } from './html.ts';
export type { PageInput } from './input.ts';
