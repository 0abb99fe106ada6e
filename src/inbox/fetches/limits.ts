/** How long a message waits (s) after its work failed, as when D1 is out. By then the leases that it took have expired. */
export const FAILED_WAIT_S = 65
