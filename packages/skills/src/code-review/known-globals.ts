/** The language's own names are known to the parser; these are what browsers and Node add, and test runners. */
const NAMES = `
  AbortController AbortSignal Blob BroadcastChannel ByteLengthQueuingStrategy CompressionStream
  CountQueuingStrategy CryptoKey CustomEvent DOMException DecompressionStream Event EventSource EventTarget File
  FormData Headers MessageChannel MessageEvent MessagePort Performance ReadableStream Request Response
  TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream URL URLPattern URLSearchParams
  WebAssembly WebSocket WritableStream atob btoa clearInterval clearTimeout console crypto fetch navigator performance
  queueMicrotask setInterval setTimeout structuredClone
  Buffer __dirname __filename clearImmediate exports global module process require setImmediate
  CSS Comment CSSStyleSheet DOMParser Document DocumentFragment Element FileReader HTMLElement HTMLInputElement Image
  IntersectionObserver KeyboardEvent MouseEvent MutationObserver Node NodeList Notification Option PointerEvent
  ResizeObserver ShadowRoot SharedWorker Text TouchEvent Worker XMLHttpRequest XMLSerializer addEventListener alert
  cancelAnimationFrame cancelIdleCallback confirm customElements dispatchEvent document getComputedStyle
  getSelection history indexedDB innerHeight innerWidth localStorage location matchMedia open postMessage prompt
  removeEventListener requestAnimationFrame requestIdleCallback screen self sessionStorage visualViewport window
  importScripts
  afterAll afterEach beforeAll beforeEach describe expect it jest suite test vi
`;

export const KNOWN_GLOBALS: Readonly<Record<string, 'readonly'>> = Object.fromEntries(
  NAMES.trim()
    .split(/\s+/)
    .map((name) => [name, 'readonly']),
);
