import { vi } from 'vitest'

/** Lines that the Worker logs from here on. */
export function captureLog() {
  const lines: Record<string, unknown>[] = []
  for (const method of ['log', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((line) => void lines.push(JSON.parse(String(line))))
  }
  return { lines, of: (event: string) => lines.filter((line) => line.event === event) }
}
