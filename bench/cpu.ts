import { readdirSync, readFileSync } from 'node:fs'

/** What the kernel counts CPU in. */
const TICK_MS = 10

/** CPU time of this program's workerd for some work (ms): Workers and databases together. 0 where no /proc tells. */
export async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpuSoFar()
  await work()
  return cpuSoFar() - before
}

/** CPU time of this program's workerd so far (ms). */
export function cpuSoFar(): number {
  return TICK_MS * ticks()
}

function ticks(): number {
  try {
    const stats = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [statOf(name)] : []))
    const own = stats.filter(([, of, parent]) => of?.startsWith('workerd') && parent === String(process.pid))
    return own.reduce((sum, [n]) => sum + Number(n), 0)
  } catch {
    return 0
  }
}

/** CPU so far, name and parent of a process. */
function statOf(id: string): [string, string, string] {
  try {
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? []
    const fields = rest.split(' ')
    return [String(Number(fields[11]) + Number(fields[12])), name, fields[1] ?? '']
  } catch {
    return ['0', '', ''] // it has ended meanwhile
  }
}
