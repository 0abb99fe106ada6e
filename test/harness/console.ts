import { vi } from 'vitest'

/** Collects what is printed from here on, in place of printing it; vitest.config.ts restores the console after the test. */
export function captureConsole() {
  const lines: string[] = []
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...parts) => void lines.push(parts.map(String).join(' ')))
  }
  return lines
}
