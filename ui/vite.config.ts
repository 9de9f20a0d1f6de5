import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// One script and one stylesheet, both files of their own: the server's content security policy allows nothing inline,
// and the one-file report (`--report html=FILE`) puts these two into the page by their hashes.
export default defineConfig({
  plugins: [react({ jsxImportSource: "@safe-jsx" })],
  resolve: { alias: { "@safe-jsx": fileURLToPath(new URL("src/components/jsx", import.meta.url)) } },
  base: "/",
  build: {
    outDir: "../src/proctor/page",
    emptyOutDir: true,
    license: { fileName: "licenses.md" }, // what the bundle holds of others goes with their licences
    target: ["chrome123", "firefox121", "safari17.5"],
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "assets/proctor-[hash].js",
        assetFileNames: "assets/proctor-[hash][extname]",
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:8000" } },
  test: { environment: "jsdom", include: ["src/**/*.test.ts", "src/**/*.test.tsx"], setupFiles: ["test/setup.ts"], testTimeout: 60_000, hookTimeout: 60_000 }, // a busy machine is slow
});
