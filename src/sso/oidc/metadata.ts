import type { Runtime } from '../../env'

export async function discover(_rt: Runtime, _issuer: string): Promise<{ ok: boolean; detail: string | null }> {
  return { ok: false, detail: 'stub' }
}
