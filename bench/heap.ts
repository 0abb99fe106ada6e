import type { Miniflare } from 'miniflare'

/** The part of the inspector's answer that is read: https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#method-getHeapUsage */
type Usage = { usedSize: number; backingStorageSize?: number }

const SAMPLE_EVERY_MS = 10

/** Reads the heap of the Worker's isolate over workerd's inspector: objects, strings and buffers, without its code. */
export async function openHeap(miniflare: Miniflare) {
  const { host } = await miniflare.getInspectorURL()
  const targets = (await (await fetch(`http://${host}/json`)).json()) as { id: string; webSocketDebuggerUrl: string }[]
  const address = targets.find(({ id }) => id.includes('own'))?.webSocketDebuggerUrl
  if (!address) throw new Error(`no isolate to inspect among ${targets.map(({ id }) => id).join(', ')}`)
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result: unknown }
    if (id !== undefined) waiting.get(id)?.(result)
  })
  let sent = 0
  const ask = (method: string) =>
    new Promise((resolve) => {
      sent += 1
      waiting.set(sent, resolve)
      socket.send(JSON.stringify({ id: sent, method }))
    })
  return {
    /** Does the work, and returns the most that the heap held meanwhile (bytes), as far as samples show it. */
    async withPeak<T>(work: () => Promise<T>): Promise<[T, number]> {
      let peak = 0
      let going = true
      const sampling = (async () => {
        while (going) {
          const { usedSize, backingStorageSize = 0 } = (await ask('Runtime.getHeapUsage')) as Usage
          peak = Math.max(peak, usedSize + backingStorageSize)
          await new Promise((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS))
        }
      })()
      const result = await work()
      going = false
      await sampling
      return [result, peak]
    },
    close: async () => socket.close(),
  }
}
