import type { PropsWithChildren } from 'hono/jsx'

/** The layout of pages outside the frame: the name of the service, and a panel with one task. */
export function Gate({ title, children }: PropsWithChildren<{ title: string }>) {
  return (
    <div class="gate">
      <p class="brand">Platform API</p>
      <section class="panel-card">
        <h1>{title}</h1>
        {children}
      </section>
    </div>
  )
}
