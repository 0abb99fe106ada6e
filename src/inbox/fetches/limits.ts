/** How long a message waits (s) after its work failed, as when D1 is out. By then the leases that it took have expired. */
export const FAILED_WAIT_S = 65
/** How much earlier than planned the work of a message may begin (ms): clocks of two workers differ a little. */
export const CLOCKS_DIFFER_MS = 250
