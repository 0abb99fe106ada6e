// Made by scripts/assets.ts: where each asset of the console is served.
export const STYLE = '/assets/style-c8047d193e.css'
export const SCRIPT = '/assets/script-ac2891e5cc.js'
export const ICON = '/assets/icon-1528e32439.svg'
export const REFERENCE_STYLE = '/assets/reference-style-0e561a44b3.css'
export const REFERENCE_SCRIPT = '/assets/reference-script-0c6ac10f61.js'
