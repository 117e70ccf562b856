// Loaded before the program as `set-clock.ts?by=MS`: with SIGUSR2 the clock of its machine is set by so much.
const by = Number(new URL(import.meta.url).searchParams.get('by'));
const before = Date.now;
let ahead = 0;

Date.now = () => before() + ahead;
process.on('SIGUSR2', () => {
  ahead += by;
});
