import { readLocal } from './paths.ts'

/** What a running server leaves for the other scripts. `group` is the process group of wrangler and workerd. */
export type Running = { pid: number; group: number; url: string }

/** Where npm start serves unless it is told otherwise. */
export const PORT = 8787

/** This checkout's server; null where none is running. */
export function readRunning(): Running | null {
  const running = readLocal<Running>('server.json')
  return running && isAlive(running.pid) ? running : null
}

/** The server that scripts speak to: the one given, else this checkout's, wherever it serves. */
export function serverUrl(given: string | undefined): string {
  if (given === undefined) return readRunning()?.url ?? `http://localhost:${PORT}`
  if (!URL.canParse(given)) throw new Error(`--url takes an address such as http://localhost:${PORT}, not ${given}.`)
  return new URL(given).origin
}

/** Whether a process is there; a negative number is a group of processes. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
