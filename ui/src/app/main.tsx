import { createRoot } from "react-dom/client";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/print.css";
import { FileSource, readFileHead } from "../data/fileSource";
import { HttpSource } from "../data/source";
import { App } from "./App";
import { applyTheme } from "./theme";

applyTheme();
const file = readFileHead();
const root = document.getElementById("root");
if (root) createRoot(root).render(file ? <App source={new FileSource()} start={file.start} places={file.places} /> : <App source={new HttpSource()} />);
