"""The template writer: it parses the brief by rules and fills sentence patterns, without a language model."""

from app.providers.writers.template.writer import TemplateWriter as TemplateWriter
