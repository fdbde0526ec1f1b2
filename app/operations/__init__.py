"""Named GraphQL documents, compiled for the surfaces that offer them. Knows graphql-core and nothing of ours."""
