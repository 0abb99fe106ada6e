import { readLocal } from './paths.ts'

/** The file that a running server leaves for the other scripts. `group`: the process group of wrangler and workerd. */
export type Running = { pid: number; group: number; url: string }

/** The default port of npm start. */
export const PORT = 8787

/** The running server of this checkout, or null. */
export function readRunning(): Running | null {
  const running = readLocal<Running>('server.json')
  return running && isAlive(running.pid) ? running : null
}

/** The server that a script talks to: the given one, or the running server of this checkout on whatever port. */
export function serverUrl(given: string | undefined): string {
  if (given === undefined) return readRunning()?.url ?? `http://localhost:${PORT}`
  if (!URL.canParse(given)) throw new Error(`--url must be a URL such as http://localhost:${PORT}, not ${given}.`)
  return new URL(given).origin
}

/** Whether a process exists; a negative number is a process group. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
