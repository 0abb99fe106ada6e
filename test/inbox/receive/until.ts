const realTimeout = globalThis.setTimeout

/** Waits until something holds, however long that takes. It moves no clock (`vi.waitUntil` moves a stopped one). */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => realTimeout(resolve, 1))
}
